# What `cmake --install` puts where: libraries, headers, the CMake package, the pkg-config files.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/stablegrad)

# The parts: each brings its libraries, its headers and its pkg-config file.
set(libraries stablegrad stablegrad_shared)
set(modules stablegrad)
set(left_out "")
# What the static libraries are linked with: names for the linker, and of pkg-config modules.
set(SG_PINN_LIBRARIES "")
set(SG_GRAPH_LIBRARIES "")
if(TARGET stablegrad-pinn)
    list(APPEND libraries stablegrad-pinn stablegrad-pinn_shared)
    list(APPEND modules stablegrad-pinn)
    set(SG_PINN_LIBRARIES sleef)
    set(SG_PC_PINN_REQUIRES sleef)
    if(stablegrad_HAS_PROBLEMS)
        list(APPEND SG_PINN_LIBRARIES yaml)
        string(APPEND SG_PC_PINN_REQUIRES " yaml-0.1")
    endif()
    if(stablegrad_HAS_PROBLEMS AND SG_HAVE_ZLIB)
        list(APPEND SG_PINN_LIBRARIES z)
        string(APPEND SG_PC_PINN_REQUIRES " zlib")
    endif()
    if(stablegrad_HAS_PROBLEMS AND SG_HAVE_JANSSON)
        list(APPEND SG_PINN_LIBRARIES jansson)
        string(APPEND SG_PC_PINN_REQUIRES " jansson")
    endif()
else()
    list(APPEND left_out PATTERN activation.h EXCLUDE PATTERN jet.h EXCLUDE)
endif()
if(NOT stablegrad_HAS_PROBLEMS)
    list(APPEND left_out PATTERN pinn.h EXCLUDE)
endif()
if(TARGET stablegrad-graph)
    list(APPEND libraries stablegrad-graph stablegrad-graph_shared)
    list(APPEND modules stablegrad-graph)
    # By name and not by find_package(OpenMP): it must be the runtime that this build and oneDNN share,
    # whatever compiler the user has.
    set(openmp ${OpenMP_C_LIB_NAMES})
    list(REMOVE_ITEM openmp pthread)
    set(SG_GRAPH_LIBRARIES dnnl ${openmp} jansson)
    set(SG_PC_GRAPH_REQUIRES jansson)
    if(SG_HAVE_IMAGES)
        list(APPEND SG_GRAPH_LIBRARIES jpeg png)
        string(APPEND SG_PC_GRAPH_REQUIRES " libjpeg libpng")
    endif()
    list(TRANSFORM openmp PREPEND -l)
    list(JOIN openmp " " SG_PC_OPENMP)
else()
    list(APPEND left_out PATTERN graph.h EXCLUDE PATTERN images.h EXCLUDE)
endif()

install(TARGETS ${libraries} EXPORT stablegrad-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/stablegrad DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${left_out})
install(EXPORT stablegrad-targets NAMESPACE stablegrad:: DESTINATION ${package_dir})

configure_package_config_file(cmake/stablegrad-config.cmake.in
    ${PROJECT_BINARY_DIR}/stablegrad-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/stablegrad-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/stablegrad-config.cmake
              ${PROJECT_BINARY_DIR}/stablegrad-config-version.cmake DESTINATION ${package_dir})

# The prefix is found from where the file lies, so an installed tree can be moved.
file(RELATIVE_PATH SG_PC_TO_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
foreach(module ${modules})
    configure_file(cmake/${module}.pc.in ${PROJECT_BINARY_DIR}/${module}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${module}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

if(TARGET stablegrad-program)
    install(TARGETS stablegrad-program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    if(TARGET stablegrad-mpi)
        install(TARGETS stablegrad-mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/stablegrad)
    endif()
    install(DIRECTORY problems DESTINATION ${CMAKE_INSTALL_DATADIR}/stablegrad)
    install(FILES ${PROJECT_BINARY_DIR}/cli/stablegrad.man DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
            RENAME stablegrad.1)
    install(FILES ${PROJECT_BINARY_DIR}/cli/stablegrad.completion
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME stablegrad)
endif()
